package scenario

import (
	"embed"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

//go:embed shipped/*.toml
var shippedFiles embed.FS

// Shipped returns the names of the scenarios that come with the program, sorted.
func Shipped() []string {
	entries, err := shippedFiles.ReadDir("shipped")
	if err != nil {
		panic("scenario: " + err.Error()) // embedded: a broken build, not bad input
	}
	var names []string
	for _, entry := range entries {
		names = append(names, strings.TrimSuffix(entry.Name(), ".toml"))
	}
	slices.Sort(names)
	return names
}

// Load reads the shipped scenario of that name, or the file at that path where
// it ends in .toml.
func Load(nameOrPath string) (Scenario, error) {
	if strings.HasSuffix(nameOrPath, ".toml") {
		file, err := os.Open(nameOrPath)
		if err != nil {
			return Scenario{}, fmt.Errorf("scenario: %w", err)
		}
		defer file.Close()
		// One byte more than is allowed, so that Parse sees what is too long.
		text, err := io.ReadAll(io.LimitReader(file, maxText+1))
		if err != nil {
			return Scenario{}, fmt.Errorf("scenario: %w", err)
		}
		return Parse(nameOrPath, text)
	}
	known := Shipped()
	if !slices.Contains(known, nameOrPath) {
		return Scenario{}, fmt.Errorf("unknown scenario %.60q%s; it is one of %s, or a path that ends in .toml",
			nameOrPath, didYouMean(nameOrPath, known), strings.Join(known, ", "))
	}
	text, err := shippedFiles.ReadFile("shipped/" + nameOrPath + ".toml")
	if err != nil {
		return Scenario{}, fmt.Errorf("scenario: %w", err)
	}
	return Parse(nameOrPath+".toml", text)
}
