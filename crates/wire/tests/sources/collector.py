"""A page: Gauge("not:this", "it is a text")."""
import os
from collections import Counter
from prometheus_client import Gauge as _Plain, Histogram

PREFIX = "eng:"  # Gauge("nor:this", "a comment")

class Collector(Base):
    part = "kv_"

    def __init__(self, labels, mode):
        from prometheus_client import Counter as _PromCounter

        Counter = self._counter_cls or _PromCounter
        self.used = _Plain(
            name=f"{PREFIX}{self.part}used",
            documentation="Used (of all), in tokens",
            labelnames=list(labels.keys()) + ["pool", 'tier'],
        )
        self.hits = Counter("eng:" "hits_total", "Hits", ["how"])
        if self.enable_tier:
            self.stored = _Plain(PREFIX + "stored", "what is stored")
        elif mode == Mode.DECODE and labels["a"] > 0:
            self.other = self._histogram_cls("eng:%s_seconds" % mode, "a", ())
        else:
            self.rest = GaugeHistogram(name="eng:{}_sizes".format(mode), documentation="b")
        tally = dict(Counter(item for item in labels))
        word = Counter("mississippi")

    def later(self):
        if not self.on:
            return
        self.late = _Plain("eng:late", "late") if self.much else None
