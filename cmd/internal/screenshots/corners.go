//go:build linux

package main

import (
	"image"
	"image/color"
)

const (
	// ring is how far around a corner's black its softened edge reaches, in pixels.
	ring = 3
	// light is how light a menu is, from 0 to 255.
	light = 246
	// grey is how much the colours of a menu's edge differ at most.
	grey = 5
)

// rounded has what lies behind the menus show through their corners, which the
// panel leaves black: its menus have no transparency. Nothing else below the
// panel is black through and through.
func rounded(open, behind *image.RGBA) {
	black := color.RGBA{A: 255}
	var near []image.Point
	seen := map[image.Point]bool{}
	for y := bar; y < open.Bounds().Dy(); y++ {
		for x := range open.Bounds().Dx() {
			if open.RGBAAt(x, y) != black {
				continue
			}
			for dy := -ring; dy <= ring; dy++ {
				for dx := -ring; dx <= ring; dx++ {
					if p := image.Pt(x+dx, y+dy); p.In(open.Bounds()) && p.Y >= bar && !seen[p] {
						seen[p] = true
						near = append(near, p)
					}
				}
			}
		}
	}
	for _, p := range near {
		front, back := open.RGBAAt(p.X, p.Y), behind.RGBAAt(p.X, p.Y)
		if max(front.R, front.G, front.B)-min(front.R, front.G, front.B) > grey {
			continue // what lies beside the menu
		}
		shows := light - min(light, int(max(front.R, front.G, front.B)))
		through := func(front, back uint8) uint8 { return uint8(min(255, int(front)+int(back)*shows/light)) }
		open.SetRGBA(p.X, p.Y, color.RGBA{through(front.R, back.R), through(front.G, back.G), through(front.B, back.B), 255})
	}
}
