#!/usr/bin/env python3
"""Makes src/view/figure/viridis_table.h: the 256 colors of viridis.

Viridis is by Stefan van der Walt and Nathaniel Smith (https://bids.github.io/colormap/), who gave it to the public (CC0).
The numbers are read from matplotlib, which carries their table. Run it where matplotlib is installed:
    python3 tools/make_viridis.py >src/view/figure/viridis_table.h
"""
from matplotlib import colormaps

ACROSS = 12

print("/* view/figure/viridis_table.h: the colors of viridis as 0xRRGGBB, least first; by Stefan van der Walt and Nathaniel Smith, CC0.")
print(" * Made by tools/make_viridis.py. For viridis.c. */")
colors = ["0x%02x%02x%02x" % tuple(round(255 * part) for part in color) for color in colormaps["viridis"].colors]
for i in range(0, len(colors), ACROSS):
    print(", ".join(colors[i : i + ACROSS]) + ",")
