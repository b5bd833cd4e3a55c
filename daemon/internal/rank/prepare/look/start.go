package look

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
)

const maxStart = 512

// readStart reads the beginning of a file.
func readStart(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	buffer := make([]byte, maxStart)
	n, err := io.ReadFull(f, buffer)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, err
	}
	return buffer[:n], nil
}

// shebang is the program that the first line of a script names: a path, or the
// name that env is to look for. Both are empty for what is no script.
func shebang(start []byte) (path, name string) {
	line, found := bytes.CutPrefix(start, []byte("#!"))
	if !found {
		return "", ""
	}
	line, _, _ = bytes.Cut(line, []byte("\n"))
	words := strings.Fields(string(line))
	if len(words) == 0 {
		return "", ""
	}
	if filepath.Base(words[0]) != "env" {
		return words[0], ""
	}
	for _, word := range words[1:] {
		// Options of env (-S, -i) and variables come before the name.
		if !strings.HasPrefix(word, "-") && !strings.Contains(word, "=") {
			return words[0], word
		}
	}
	return words[0], ""
}

// wrapped is the interpreter of a script that installers write where its path is
// too long for a first line or has a space: a shell script whose second line
// executes the quoted interpreter, and which Python reads as a string.
func wrapped(start []byte) string {
	lines := strings.SplitN(string(start), "\n", 3)
	if len(lines) < 2 || strings.TrimSpace(lines[0]) != "#!/bin/sh" {
		return ""
	}
	rest, found := strings.CutPrefix(lines[1], "'''exec' ")
	if !found {
		return ""
	}
	if quoted, isQuoted := strings.CutPrefix(rest, `"`); isQuoted {
		path, _, _ := strings.Cut(quoted, `"`)
		return path
	}
	path, _, _ := strings.Cut(rest, " ")
	return path
}
