package layout

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image/png"
)

// picture is a place in the file: its type and the side of what it holds, in
// pixels. Types that end in an odd way are the same size in points for screens
// with two pixels a point; names and sizes are those that `iconutil` writes.
type picture struct {
	kind string
	side int
}

func pictures() []picture {
	return []picture{
		{"icp4", 16}, {"icp5", 32}, {"ic07", 128}, {"ic08", 256}, {"ic09", 512},
		{"ic11", 32}, {"ic12", 64}, {"ic13", 256}, {"ic14", 512}, {"ic10", 1024},
	}
}

// IconSides are the sides of the pictures that MakeIcon wants, in pixels.
func IconSides() []int { return []int{16, 32, 64, 128, 256, 512, 1024} }

// MakeIcon makes the file in which macOS keeps an app's icon; read gives the PNG of a side in pixels.
func MakeIcon(read func(side int) ([]byte, error)) ([]byte, error) {
	var b bytes.Buffer
	for _, p := range pictures() {
		content, err := read(p.side)
		if err != nil {
			return nil, err
		}
		config, err := png.DecodeConfig(bytes.NewReader(content))
		if err != nil {
			return nil, fmt.Errorf("the picture of %d pixels: %w", p.side, err)
		}
		if config.Width != p.side || config.Height != p.side {
			return nil, fmt.Errorf("the picture of %d pixels has %d by %d", p.side, config.Width, config.Height)
		}
		entry(&b, p.kind, content)
	}
	var out bytes.Buffer
	entry(&out, "icns", b.Bytes())
	return out.Bytes(), nil
}

// entry is four letters, the length of all of it, and the content.
func entry(b *bytes.Buffer, kind string, content []byte) {
	b.WriteString(kind)
	_ = binary.Write(b, binary.BigEndian, uint32(8+len(content))) // a buffer takes everything
	b.Write(content)
}

// IconKinds lists the pictures of a file by type, with the side that each has; the
// error says why it is no such file.
func IconKinds(file []byte) (map[string]int, error) {
	if len(file) < 8 || string(file[:4]) != "icns" || int(binary.BigEndian.Uint32(file[4:])) != len(file) {
		return nil, fmt.Errorf("its %d bytes are not an icon file", len(file))
	}
	kinds := map[string]int{}
	for rest := file[8:]; len(rest) > 0; {
		if len(rest) < 8 {
			return nil, fmt.Errorf("an entry of %d bytes is too short", len(rest))
		}
		size := int(binary.BigEndian.Uint32(rest[4:]))
		if size < 8 || size > len(rest) {
			return nil, fmt.Errorf("an entry claims %d bytes, but only %d are left", size, len(rest))
		}
		config, err := png.DecodeConfig(bytes.NewReader(rest[8:size]))
		if err != nil {
			return nil, fmt.Errorf("the picture %q: %w", rest[:4], err)
		}
		kinds[string(rest[:4])] = config.Width
		rest = rest[size:]
	}
	return kinds, nil
}
