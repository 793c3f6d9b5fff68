"""What a row is: contestants, which of them must agree, and the targets."""
from dataclasses import dataclass, field

HF, HF_ONE, SPM, TIKTOKEN = "Hugging Face", "Hugging Face, one thread", "SentencePiece", "tiktoken"
NUMPY, FAST = "tfs, NumPy", "tfs, pure Python"


@dataclass
class Row:
    "Something to measure."
    title: str             # what is measured
    contestants: dict      # name: (function that gives a `Run`, its arguments...)
    same: tuple = ()       # groups of contestants with equal results
    targets: tuple = ()    # `Target`s
    runs: int = 5          # of each contestant, at most
    once: tuple = ()       # contestants that run once, and not at all in a quick bench
    note: str = ""         # what a reader has to know


@dataclass
class Target:
    "What one figure, or the quotient of two, should be."
    figure: str        # "seconds", "cpu", "MB", "slope" or "lines"
    relation: str      # "≤" or "≥"
    bound: float
    over: str = ""     # contestant: the one measured, or the dividend
    under: str = ""    # contestant: the divisor
    words: str = field(init=False)

    def __post_init__(self):
        what = {"seconds": "seconds of {}", "MB": "memory of {}, MB", "lines": "lines of {}",
                "slope": "slope", "cpu": ""}[self.figure].format(self.over)
        if self.under: what = f"{self.over} ÷ {self.under}"
        unit = " of CPU" if self.figure == "cpu" else ""
        self.words = f"{what}{unit} {self.relation} {self.bound:g}"

    def met(self, value):
        "Whether a value reaches the target."
        return value <= self.bound if self.relation == "≤" else value >= self.bound


def at_most(over, under, bound): return Target("seconds", "≤", bound, over, under)
def times_faster(fast, slow, bound): return Target("seconds", "≥", bound, slow, fast)
def times_lighter(fast, slow, bound): return Target("cpu", "≥", bound, slow, fast)   # one core each
def megabytes(who, bound): return Target("MB", "≤", bound, who)
