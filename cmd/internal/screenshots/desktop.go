//go:build linux

package main

import (
	"bufio"
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

const (
	// width and height are the screen's in pixels, two for each point, as on a Mac.
	width, height = 2240, 1560
	// still is between two looks at a screen.
	still = 200 * time.Millisecond
)

// look is how the panel and its menus look: quiet, as a Mac's.
//
//go:embed all:look
var look embed.FS

// desktop is a screen in memory with a panel on it.
type desktop struct {
	home  string
	env   []string
	parts []*exec.Cmd
}

// newDesktop starts one; close ends it, also after an error.
func newDesktop(ctx context.Context) (*desktop, error) {
	d := &desktop{}
	for _, tool := range []string{"Xvfb", "dbus-daemon", "xfce4-panel", "xdotool", "scrot", "picom", "hsetroot"} {
		if _, err := exec.LookPath(tool); err != nil {
			return d, fmt.Errorf("%s is missing: cmd/internal/deps/deps.sh screenshots", tool)
		}
	}
	var err error
	if d.home, err = os.MkdirTemp("", "fulmen-screen"); err != nil {
		return d, err
	}
	quiet, err := fs.Sub(look, "look")
	if err == nil {
		err = os.CopyFS(d.home, quiet)
	}
	if err != nil {
		return d, err
	}
	d.env = append(os.Environ(), "HOME="+d.home, "XDG_CONFIG_HOME="+filepath.Join(d.home, ".config"), "XDG_RUNTIME_DIR="+d.home,
		"GDK_SCALE=2", "GTK_THEME=Adwaita", "NO_AT_BRIDGE=1", "GTK_MODULES=")
	display, err := d.starts("Xvfb", "-displayfd", "1", "-screen", "0", fmt.Sprintf("%dx%dx24", width, height), "-nolisten", "tcp")
	if err != nil {
		return d, err
	}
	d.env = append(d.env, "DISPLAY=:"+display)
	bus, err := d.starts("dbus-daemon", "--session", "--nofork", "--print-address=1")
	if err != nil {
		return d, err
	}
	d.env = append(d.env, "DBUS_SESSION_BUS_ADDRESS="+bus)
	// Whoever composes the screen is there before the panel: it asks once whether
	// menus can have round corners.
	if err := d.begins("picom", "--config", filepath.Join(d.home, "picom.conf")); err != nil {
		return d, err
	}
	if _, err := d.settled(ctx, 2, func(*image.RGBA) bool { return true }); err != nil {
		return d, err
	}
	if err := d.runs(ctx, "hsetroot", "-add", "#4b6cb7", "-add", "#8d9fd6", "-add", "#d9c9e8", "-gradient", "150"); err != nil {
		return d, err
	}
	return d, d.begins("xfce4-panel", "--disable-wm-check")
}

// begins starts a part of the desktop.
func (d *desktop) begins(program string, args ...string) error {
	c := exec.Command(program, args...)
	c.Env = d.env
	if err := c.Start(); err != nil {
		return err
	}
	d.parts = append(d.parts, c)
	return nil
}

// starts starts a part of the desktop and gives the first line that it prints.
func (d *desktop) starts(program string, args ...string) (string, error) {
	c := exec.Command(program, args...)
	c.Env = d.env
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		return "", err
	}
	d.parts = append(d.parts, c)
	line, err := bufio.NewReader(out).ReadString('\n')
	return strings.TrimSpace(line), err
}

// runs runs a tool on the desktop.
func (d *desktop) runs(ctx context.Context, program string, args ...string) error {
	c := exec.CommandContext(ctx, program, args...)
	c.Env = d.env
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w: %s", program, err, bytes.TrimSpace(out))
	}
	return nil
}

// close ends the parts, the last first.
func (d *desktop) close() {
	for i := len(d.parts) - 1; i >= 0; i-- {
		_ = d.parts[i].Process.Signal(syscall.SIGTERM) // it may have ended
		_ = d.parts[i].Wait()
	}
	os.RemoveAll(d.home)
}

// screen is what is seen now.
func (d *desktop) screen(ctx context.Context) (*image.RGBA, error) {
	path := filepath.Join(d.home, "screen.png")
	if err := d.runs(ctx, "scrot", "--overwrite", path); err != nil {
		return nil, err
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	seen, err := png.Decode(file)
	if err != nil {
		return nil, err
	}
	pixels := image.NewRGBA(seen.Bounds())
	draw.Draw(pixels, pixels.Bounds(), seen, image.Point{}, draw.Src)
	return pixels, nil
}

// settled is what is seen once it is as it should be, the same at some looks in a row.
func (d *desktop) settled(ctx context.Context, looks int, isWell func(now *image.RGBA) bool) (*image.RGBA, error) {
	var last *image.RGBA
	for alike := 0; ; {
		now, err := d.screen(ctx)
		if err != nil {
			return nil, err
		}
		if last == nil || !bytes.Equal(now.Pix, last.Pix) || !isWell(now) {
			alike = 0
		}
		if alike++; alike == looks {
			return now, nil
		}
		last = now
		select {
		case <-time.After(still):
		case <-ctx.Done():
			return nil, errors.New("the screen does not come to what it should be")
		}
	}
}

// write keeps a part of a picture.
func write(path string, picture *image.RGBA, part image.Rectangle) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	encoder := png.Encoder{CompressionLevel: png.BestCompression}
	return errors.Join(encoder.Encode(file, picture.SubImage(part)), file.Close())
}
