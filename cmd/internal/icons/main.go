// Command icons makes the pictures of the menu bar and of the app from shapes:
// the same shape as SVG, for whoever draws, and as PNG in the sizes that screens
// want.
package main

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: icons FOLDER")
		os.Exit(2)
	}
	files, err := pictures(appPixels())
	for name, content := range files {
		if err == nil {
			err = os.WriteFile(filepath.Join(os.Args[1], name), content, 0o644)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "icons:", err)
		os.Exit(1)
	}
}

// menuPixels is the side of a menu bar picture: 22 points at two pixels each.
const menuPixels = 44

// appPixels are the sides that an .icns file holds.
func appPixels() []int { return []int{16, 32, 64, 128, 256, 512, 1024} }

// pictures are all files by name, the app's with these sides.
func pictures(sides []int) (map[string][]byte, error) {
	files := map[string][]byte{}
	for name, d := range menuDrawings() {
		files["menu-"+name+".svg"] = d.svg()
		picture, err := d.png(menuPixels)
		if err != nil {
			return nil, err
		}
		files["menu-"+name+".png"] = picture
	}
	d := appDrawing()
	files["app.svg"] = d.svg()
	for _, side := range sides {
		picture, err := d.png(side)
		if err != nil {
			return nil, err
		}
		files[fmt.Sprintf("app-%d.png", side)] = picture
	}
	return files, nil
}

// point is a place in a square of 100 by 100, from the upper left.
type point struct{ x, y float64 }

// layer is an area in one colour: of several outlines those places count that an
// odd number of them encloses.
type layer struct {
	outlines [][]point
	fill     color.NRGBA
	// clears takes the area away from what lies below.
	clears bool
}

// drawing is layers, the lowest first.
type drawing []layer

func (l layer) has(p point) bool {
	inside := false
	for _, o := range l.outlines {
		for i, j := 0, len(o)-1; i < len(o); j, i = i, i+1 {
			a, b := o[i], o[j]
			if (a.y > p.y) != (b.y > p.y) && p.x < (b.x-a.x)*(p.y-a.y)/(b.y-a.y)+a.x {
				inside = !inside
			}
		}
	}
	return inside
}

// samples is how many samples a pixel has in each direction: few pixels need
// many, and many need few.
func samples(side int) int {
	if side <= 128 {
		return 6
	}
	return 3
}

// png draws in a square of some pixels.
func (d drawing) png(side int) ([]byte, error) {
	picture := image.NewNRGBA(image.Rect(0, 0, side, side))
	for y := range side {
		for x := range side {
			picture.SetNRGBA(x, y, d.at(x, y, side))
		}
	}
	var out bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, picture); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// at is the mean of a pixel's samples.
func (d drawing) at(x, y, side int) color.NRGBA {
	fine := samples(side)
	var r, g, b, a float64
	for sy := range fine {
		for sx := range fine {
			scale := 100 / float64(side)
			p := point{(float64(x) + (float64(sx)+0.5)/float64(fine)) * scale, (float64(y) + (float64(sy)+0.5)/float64(fine)) * scale}
			var c color.NRGBA
			for _, l := range d {
				if l.has(p) {
					if c = l.fill; l.clears {
						c = color.NRGBA{}
					}
				}
			}
			alpha := float64(c.A)
			r, g, b, a = r+float64(c.R)*alpha, g+float64(c.G)*alpha, b+float64(c.B)*alpha, a+alpha
		}
	}
	if a == 0 {
		return color.NRGBA{}
	}
	return color.NRGBA{uint8(r/a + 0.5), uint8(g/a + 0.5), uint8(b/a + 0.5), uint8(a/float64(fine*fine) + 0.5)}
}

// svg writes the same for whoever draws.
func (d drawing) svg() []byte {
	var out bytes.Buffer
	out.WriteString(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100">` + "\n")
	for n, l := range d {
		if l.clears {
			fmt.Fprintf(&out, `<mask id="m%d"><rect width="100" height="100" fill="#fff"/><path fill-rule="evenodd" d="%s"/></mask>`+"\n", n, l.path())
		}
	}
	for n, l := range d {
		if l.clears {
			continue
		}
		mask := ""
		for above := n + 1; above < len(d); above++ {
			if d[above].clears {
				mask = fmt.Sprintf(` mask="url(#m%d)"`, above)
			}
		}
		fmt.Fprintf(&out, `<path fill="#%02x%02x%02x" fill-rule="evenodd"%s d="%s"/>`+"\n", l.fill.R, l.fill.G, l.fill.B, mask, l.path())
	}
	out.WriteString("</svg>\n")
	return out.Bytes()
}

func (l layer) path() string {
	var out bytes.Buffer
	for _, o := range l.outlines {
		for n, p := range o {
			letter := "L"
			if n == 0 {
				letter = "M"
			}
			fmt.Fprintf(&out, "%s%.5g %.5g", letter, p.x, p.y)
		}
		out.WriteString("Z")
	}
	return out.String()
}
