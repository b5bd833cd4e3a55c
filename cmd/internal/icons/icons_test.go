package main

import (
	"bytes"
	"image/png"
	"os"
	"path/filepath"
	"testing"

	"github.com/matryer/is"

	"fulmen/app"
	"fulmen/assets/icons"
)

func TestFilesAreThoseOfTheShapes(t *testing.T) {
	is := is.New(t)
	files, err := pictures()
	is.NoErr(err)
	const folder = "../../../assets/icons"
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(folder, name))
		is.NoErr(err) // go generate ./assets/icons
		is.True(bytes.Equal(got, want))
	}
	for _, kind := range []string{"*.png", "*.svg"} {
		there, err := filepath.Glob(filepath.Join(folder, kind))
		is.NoErr(err)
		for _, path := range there {
			is.True(files[filepath.Base(path)] != nil) // no picture without a shape
		}
	}
}

// The states must be told apart without colour, at the size of the menu bar.
func TestMenuPicturesDifferInShape(t *testing.T) {
	is := is.New(t)
	var seen []map[[2]int]bool
	for _, state := range app.Icons() {
		picture, err := png.Decode(bytes.NewReader(icons.Menu(string(state))))
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
