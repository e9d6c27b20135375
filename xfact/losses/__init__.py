"""What training minimises; each file is one loss, with its paper and formula."""
