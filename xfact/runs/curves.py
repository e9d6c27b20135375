"""Loss and dev score over training as a picture, from the run's metrics.csv."""

import pandas as pd

from xfact.evaluation.record import on_dev, titled
from xfact.io.files import temporary
from xfact.runs.folder import RunFolder
from xfact.runs.result import Best


def draw_curves(folder: RunFolder, best: Best) -> None:
    """`curves.png`: training and dev loss by step, the score on dev by epoch with the tested epoch marked."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt
    from matplotlib.ticker import MaxNLocator

    metrics = pd.read_csv(folder.metrics)
    selected = on_dev(best.metric)
    dev = metrics.dropna(subset=[selected])
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    if "train/loss_step" in metrics:
        steps = metrics.dropna(subset=["train/loss_step"])
        smooth = steps["train/loss_step"].rolling(10, min_periods=1).mean()
        left.plot(steps["step"] + 1, steps["train/loss_step"], color="tab:blue", alpha=0.25, linewidth=0.8)
        left.plot(steps["step"] + 1, smooth, color="tab:blue", label="train (mean of the last 10 points)")
    left.plot(dev["step"] + 1, dev["dev/loss"], "o-", color="tab:orange", label="dev")
    left.set(xlabel="optimiser step", ylabel="cross-entropy")
    left.legend(frameon=False, fontsize="small")
    epochs = dev["epoch"].astype(int) + 1
    right.plot(epochs, 100 * dev[selected], "o-", color="tab:orange")
    chosen = dev[dev["epoch"] == best.epoch]
    right.plot(chosen["epoch"] + 1, 100 * chosen[selected], "*", color="black", markersize=12, label="tested")
    right.set(xlabel="epoch", ylabel=f"{titled(best.metric)} x 100")
    right.xaxis.set_major_locator(MaxNLocator(integer=True))
    right.legend(frameon=False, fontsize="small")
    for axis in (left, right):
        axis.spines[["top", "right"]].set_visible(False)
    with temporary(folder.curves) as unfinished:
        figure.savefig(unfinished, dpi=130, format="png")
    plt.close(figure)
