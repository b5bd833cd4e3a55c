//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"

	"fulmen/app"
)

// margin is what is kept around what is seen, in pixels: the shadow of menus.
const margin = 76

// bar is the height of the panel, in pixels.
const bar = 56

// take makes one picture.
func (d *desktop) take(ctx context.Context, p picture, path string) error {
	// The panel is there, and no picture in it yet.
	before, err := d.settled(ctx, 4, func(now *image.RGBA) bool { return now.RGBAAt(8, bar/2) != now.RGBAAt(8, bar+8) })
	if err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	shown := exec.CommandContext(ctx, self, "-show", p.name)
	shown.Env, shown.Stderr = d.env, os.Stderr
	if err := shown.Start(); err != nil {
		return err
	}
	defer func() {
		_ = shown.Process.Signal(syscall.SIGINT)
		_ = shown.Wait()
	}()
	closed, err := d.settled(ctx, 2, func(now *image.RGBA) bool { return changed(before, now).Dx() > bar/4 })
	if err != nil {
		return fmt.Errorf("no picture in the panel: %w", err)
	}
	icon := changed(before, closed)
	keys, err := p.keys()
	if err != nil {
		return err
	}
	at := icon.Min.Add(icon.Max).Div(2)
	if err := d.runs(ctx, "xdotool", "mousemove", strconv.Itoa(at.X), strconv.Itoa(at.Y), "click", "1"); err != nil {
		return err
	}
	open, err := d.settled(ctx, 2, func(now *image.RGBA) bool { return changed(closed, now).Max.Y > 2*bar })
	if err != nil {
		return fmt.Errorf("the menu does not open: %w", err)
	}
	for _, key := range keys {
		if err := d.runs(ctx, "xdotool", "key", key); err != nil {
			return err
		}
		was := open
		if open, err = d.settled(ctx, 2, func(now *image.RGBA) bool { return !bytes.Equal(now.Pix, was.Pix) }); err != nil {
			return fmt.Errorf("after %s: %w", key, err)
		}
	}
	part := changed(closed, open).Union(icon).Inset(-margin)
	part.Min.Y, part.Max.X = 0, width
	rounded(open, closed)
	return write(path, open, part.Intersect(open.Bounds()))
}

// changed is the part of the screen that differs.
func changed(a, b *image.RGBA) image.Rectangle {
	var part image.Rectangle
	for y := range b.Bounds().Dy() {
		for x := range b.Bounds().Dx() {
			if a.RGBAAt(x, y) != b.RGBAAt(x, y) {
				part = part.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	return part
}

// keys open the submenus on the way to a line, each named by how its id begins.
// Lines that are only read are passed over by the keyboard.
func (p picture) keys() ([]string, error) {
	items := app.Build(p.state).Items
	var keys []string
	for depth, id := range p.open {
		steps, found := 0, app.Item{}
		for _, i := range items {
			if i.Disabled || i.IsSeparator() {
				continue
			}
			steps++
			if strings.HasPrefix(i.ID, id) {
				found = i
				break
			}
		}
		if found.ID == "" {
			return nil, fmt.Errorf("there is no line %s", id)
		}
		if depth > 0 {
			steps-- // a submenu opens with its first line chosen
		}
		for range steps {
			keys = append(keys, "Down")
		}
		if len(found.Items) > 0 {
			keys = append(keys, "Right")
		}
		items = found.Items
	}
	return keys, nil
}
