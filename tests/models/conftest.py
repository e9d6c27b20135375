"""What tests of models share."""

import pytest
import torch


@pytest.fixture(scope="module")
def one_thread():
    """Small products are as quick on one thread, and a busy machine does not slow it down."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
