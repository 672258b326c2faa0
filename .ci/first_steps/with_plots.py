"""The library that draws reports."""

from matplotlib.figure import Figure

assert Figure().subplots
