package seal

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"fulmen/cmd/internal/bundle/machofile"
)

// Sign signs a bundle ad hoc, innermost first: the files whose paths, below
// Contents, are given with their signing identifiers, then the bundle by the
// program that it is started by. Files keep their mode.
func Sign(bundle, identifier string, inner map[string]string) error {
	for name, own := range inner {
		if err := sign(filepath.Join(bundle, "Contents", name), machofile.Seal{Identifier: own}); err != nil {
			return err
		}
	}
	list, err := List(bundle)
	if err != nil {
		return err
	}
	to := filepath.Join(bundle, "Contents", listFile)
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(to, list, 0o644); err != nil {
		return err
	}
	info, err := os.ReadFile(filepath.Join(bundle, "Contents", infoFile))
	if err != nil {
		return err
	}
	main, err := executable(bundle)
	if err != nil {
		return err
	}
	return sign(filepath.Join(bundle, "Contents", programs, main), machofile.Seal{Identifier: identifier, Info: info, Resources: list})
}

// sign signs one file in place.
func sign(path string, seal machofile.Seal) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	file, err := machofile.Parse(content)
	if err == nil {
		err = file.Sign(seal)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", strings.TrimPrefix(path, filepath.Dir(path)+"/"), err)
	}
	return os.WriteFile(path, file.Bytes(), 0o755)
}
