package legal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// MLX is MLX for macOS as the pinned wheel has it. Unpacked is the folder that
// the wheel was unpacked into, pins the list with its version and hash.
func MLX(unpacked, pins string) (Component, error) {
	text, err := os.ReadFile(pins)
	if err != nil {
		return Component{}, err
	}
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) != 6 || f[0] != "mlx" || f[1] != "macos-arm64" {
			continue
		}
		c := Component{Name: f[2], Version: f[3], URL: "pkg:pypi/" + f[2] + "@" + f[3], SHA256: f[5]}
		folder := filepath.Join(unpacked, strings.ReplaceAll(f[2], "-", "_")+"-"+f[3]+".dist-info", "licenses")
		if err := c.read(folder); err != nil {
			return Component{}, err
		}
		return c, nil
	}
	return Component{}, errors.Join(fmt.Errorf("%s names no MLX for macOS", pins), os.ErrNotExist)
}
