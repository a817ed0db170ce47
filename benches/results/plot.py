"""The pictures of docs/results.md, as SVG: accuracy against time, and learning curves."""

import html
import math

WIDTH, HEIGHT, LEFT, TOP, GAP = 230, 150, 46, 30, 62
COLOURS = {"modern": "#111827", "modern-3": "#be123c", "small": "#1d4ed8", "cosine": "#c2410c", "c100": "#db2777", "paper-1": "#15803d", "gin": "#7e22ce", "lin": "#a16207",
           "wl-svm": "#0e7490", "agnostic": "#6b7280"}


def accuracies(panels):
    """One panel per (title, accuracy to compare with, {row: (seconds, accuracy)}), four in a line, with a legend of the rows."""
    rows = [row for row in COLOURS if any(row in measured for _, _, measured in panels)]
    shapes = []
    for place, panel in enumerate(panels):
        shapes += points(*panel, LEFT + place % 4 * (WIDTH + GAP), TOP + place // 4 * (HEIGHT + GAP))
    width, height = LEFT + 4 * (WIDTH + GAP), TOP + -(-len(panels) // 4) * (HEIGHT + GAP) + 24
    for at, row in enumerate(rows):
        x = LEFT + at * 115
        shapes.append(f'<circle cx="{x}" cy="{height - 14}" r="4" fill="{COLOURS[row]}"/>')
        shapes.append(text(x + 8, height - 10, row, "start"))
    return picture(shapes, width, height)


def learning_curves(panels):
    """One panel per (title, error to compare with, error by epoch), side by side; errors on a logarithmic axis."""
    shapes = []
    for place, panel in enumerate(panels):
        shapes += curve(*panel, LEFT + place * (WIDTH + GAP), TOP)
    return picture(shapes, LEFT + len(panels) * (WIDTH + GAP), TOP + HEIGHT + GAP)


def points(name, printed, measured, x, y):
    shapes = frame(name, x, y)
    if not measured:
        return [*shapes, text(x + WIDTH / 2, y + HEIGHT / 2, "not measured", "middle")]
    low, high = (f([math.log10(s) for s, _ in measured.values()]) for f in (min, max))
    low, high = math.floor(low - 0.05), math.ceil(high + 0.05)
    across = lambda seconds: x + WIDTH * (math.log10(seconds) - low) / (high - low)
    bottom, top, up = heights([printed, *(a for _, a in measured.values())], y)
    for power in range(low, high + 1):
        label = f"{10 ** power:g} s" if power <= 3 else f"1e{power} s"
        shapes += mark(across(10 ** power), y, label)
    for share in (0.1, 0.5, 0.9):
        accuracy = bottom + share * (top - bottom)
        shapes.append(text(x - 5, up(accuracy) + 4, f"{accuracy:.1f}", "end"))
    shapes.append(level(x, up(printed)))
    for row, (seconds, accuracy) in measured.items():
        shapes.append(f'<circle cx="{across(seconds):.1f}" cy="{up(accuracy):.1f}" r="4" fill="{COLOURS[row]}">'
                      f"<title>{html.escape(row)}: {accuracy:.2f} %, {seconds:.0f} s</title></circle>")
    return shapes


def curve(name, printed, errors, x, y):
    across = lambda epoch: x + WIDTH * (epoch - 1) / max(len(errors) - 1, 1)
    bottom, top, up = heights([math.log10(printed), *map(math.log10, errors)], y)
    shapes = frame(name, x, y)
    for epoch in sorted({1, (len(errors) + 1) // 2, len(errors)}):
        shapes += mark(across(epoch), y, f"epoch {epoch}" if epoch == 1 else str(epoch))
    for share in (0.05, 0.5, 0.95):
        height = bottom + share * (top - bottom)
        shapes.append(text(x - 5, up(height) + 4, f"{10 ** height:.2g}", "end"))
    shapes.append(level(x, up(math.log10(printed))))
    line = " ".join(f"{across(epoch):.1f},{up(math.log10(error)):.1f}" for epoch, error in enumerate(errors, 1))
    return [*shapes, f'<polyline points="{line}" fill="none" stroke="{COLOURS["small"]}" stroke-width="1.5"/>']


def heights(values, y):
    """The lowest and the highest value of a panel that shows these, and the place of a value in it."""
    bottom, top = min(values), max(values)
    margin = 0.06 * (top - bottom) or 1.0
    bottom, top = bottom - margin, top + margin
    return bottom, top, lambda value: y + HEIGHT * (top - value) / (top - bottom)


def picture(shapes, width, height):
    head = (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
            'font-family="sans-serif" font-size="11">\n<rect width="100%" height="100%" fill="#ffffff"/>')
    return "\n".join([head, *shapes, "</svg>\n"])


def frame(name, x, y):
    return [f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#cccccc"/>',
            text(x + WIDTH / 2, y - 8, name, "middle")]


def mark(x, y, label):
    """A place on the axis below."""
    return [f'<line x1="{x:.1f}" y1="{y}" x2="{x:.1f}" y2="{y + HEIGHT}" stroke="#eeeeee"/>',
            text(x, y + HEIGHT + 14, label, "middle")]


def level(x, y):
    """The line of what was printed elsewhere."""
    return f'<line x1="{x}" y1="{y:.1f}" x2="{x + WIDTH}" y2="{y:.1f}" stroke="#444444" stroke-dasharray="4 3"/>'


def text(x, y, said, anchor):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="#222222">{html.escape(said)}</text>'
