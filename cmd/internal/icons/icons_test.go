package main

import (
	"bytes"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/matryer/is"

	"fulmen/app"
	"fulmen/assets"
)

func TestFilesAreThoseOfTheShapes(t *testing.T) {
	is := is.New(t)
	sides := appPixels()
	if testing.Short() {
		sides = sides[:3] // the larger ones take long under the race detector
	}
	files, err := pictures(sides)
	is.NoErr(err)
	const folder = "../../../assets/icons"
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(folder, name))
		is.NoErr(err) // go run ./cmd/internal/icons assets/icons
		if filepath.Ext(name) == ".svg" {
			is.Equal(string(got), string(want))
			continue
		}
		alike(t, name, got, want)
	}
	there, err := filepath.Glob(filepath.Join(folder, "*.[ps][nv]g"))
	is.NoErr(err)
	is.Equal(len(there), len(files)+len(appPixels())-len(sides)) // no picture without a shape
}

// alike compares what two pictures show; how it is compressed is the library's.
func alike(t *testing.T, name string, got, want []byte) {
	t.Helper()
	is := is.New(t)
	a, err := png.Decode(bytes.NewReader(got))
	is.NoErr(err)
	b, err := png.Decode(bytes.NewReader(want))
	is.NoErr(err)
	is.Equal(a.Bounds(), b.Bounds())
	for y := range a.Bounds().Dy() {
		for x := range a.Bounds().Dx() {
			r, g, blue, alpha := a.At(x, y).RGBA()
			r2, g2, blue2, alpha2 := b.At(x, y).RGBA()
			for _, d := range []int{int(r) - int(r2), int(g) - int(g2), int(blue) - int(blue2), int(alpha) - int(alpha2)} {
				if d < -0x400 || d > 0x400 { // a sample that falls on an edge
					t.Fatalf("%s differs at %d,%d: %v and %v", name, x, y, a.At(x, y), b.At(x, y))
				}
			}
		}
	}
}

// The states must be told apart without colour, at the size of the menu bar.
func TestMenuPicturesDifferInShape(t *testing.T) {
	is := is.New(t)
	var seen []map[[2]int]bool
	for _, state := range app.Icons() {
		picture, err := png.Decode(bytes.NewReader(assets.MenuIcon(string(state))))
		is.NoErr(err)
		ink := map[[2]int]bool{}
		for y := range picture.Bounds().Dy() {
			for x := range picture.Bounds().Dx() {
				r, g, b, a := picture.At(x, y).RGBA()
				is.Equal(r+g+b, uint32(0)) // black, as a template must be
				if a > 0x8000 {
					ink[[2]int{x, y}] = true
				}
			}
		}
		is.True(len(ink) > menuPixels*menuPixels/12) // to be seen at all
		for _, other := range seen {
			differs := 0
			for p := range ink {
				if !other[p] {
					differs++
				}
			}
			for p := range other {
				if !ink[p] {
					differs++
				}
			}
			is.True(differs > menuPixels*menuPixels/16)
		}
		seen = append(seen, ink)
	}
}
