package main

import (
	"image/color"
	"math"
)

// bolt is the thunderbolt that Fulmen is named after.
func bolt() []point {
	return []point{{60, 3}, {19, 57}, {45, 57}, {37, 97}, {81, 40}, {54, 40}}
}

// scaled is an outline made smaller or larger about a centre, and moved.
func scaled(o []point, by float64, about, move point) []point {
	out := make([]point, 0, len(o))
	for _, p := range o {
		out = append(out, point{about.x + (p.x-about.x)*by + move.x, about.y + (p.y-about.y)*by + move.y})
	}
	return out
}

// circle is a circle as a polygon that no screen tells from one.
func circle(centre point, radius float64) []point {
	const corners = 96
	out := make([]point, 0, corners)
	for n := range corners {
		sin, cos := math.Sincos(2 * math.Pi * float64(n) / corners)
		out = append(out, point{centre.x + radius*cos, centre.y + radius*sin})
	}
	return out
}

// line is a line with a width.
func line(from, to point, width float64) []point {
	dx, dy := to.x-from.x, to.y-from.y
	long := math.Hypot(dx, dy)
	nx, ny := -dy/long*width/2, dx/long*width/2
	return []point{{from.x + nx, from.y + ny}, {to.x + nx, to.y + ny}, {to.x - nx, to.y - ny}, {from.x - nx, from.y - ny}}
}

// round is a square with round corners.
func round(low, high, radius float64) []point {
	var out []point
	for corner, c := range []point{{high - radius, high - radius}, {low + radius, high - radius}, {low + radius, low + radius}, {high - radius, low + radius}} {
		for n := range 17 {
			sin, cos := math.Sincos(math.Pi / 2 * (float64(corner) + float64(n)/16))
			out = append(out, point{c.x + radius*cos, c.y + radius*sin})
		}
	}
	return out
}

// menuDrawings are the menu bar's pictures by state.
func menuDrawings() map[string]drawing {
	black := color.NRGBA{A: 255}
	middle := point{50, 50}
	badge := point{76, 76}
	return map[string]drawing{
		"normal": {{outlines: [][]point{bolt()}, fill: black}},
		// A ring around the bolt: something runs.
		"working": {
			{outlines: [][]point{circle(middle, 48), circle(middle, 40)}, fill: black},
			{outlines: [][]point{scaled(bolt(), 0.7, middle, point{})}, fill: black},
		},
		// A disc with an exclamation mark cut out of it.
		"warning": {
			{outlines: [][]point{scaled(bolt(), 0.94, point{0, 0}, point{-6, 0})}, fill: black},
			{outlines: [][]point{circle(badge, 29)}, clears: true},
			{outlines: [][]point{circle(badge, 23)}, fill: black},
			{outlines: [][]point{line(point{76, 61}, point{76, 79}, 8), circle(point{76, 88}, 4.5)}, clears: true},
		},
		// Struck through.
		"off": {
			{outlines: [][]point{bolt()}, fill: black},
			{outlines: [][]point{line(point{6, 12}, point{94, 96}, 18)}, clears: true},
			{outlines: [][]point{line(point{6, 12}, point{94, 96}, 7)}, fill: black},
		},
	}
}

// appDrawing is the app's picture: the bolt on a round square, as macOS has them.
func appDrawing() drawing {
	return drawing{
		{outlines: [][]point{round(10, 90, 18)}, fill: color.NRGBA{R: 0x1d, G: 0x24, B: 0x33, A: 255}},
		{outlines: [][]point{scaled(bolt(), 0.62, point{50, 50}, point{})}, fill: color.NRGBA{R: 0xff, G: 0xc8, B: 0x3d, A: 255}},
	}
}
