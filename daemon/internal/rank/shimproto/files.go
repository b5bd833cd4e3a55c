package shimproto

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// Names of the two files in a rank's folder.
const (
	SpecFile = "spec.json"
	ExitFile = "exit.json"
)

// maxFile is the longest spec or exit record that is read.
const maxFile = 4 << 20

func readFile(path string, target any) (map[string]json.RawMessage, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("%s: %w", path, ErrTooLong)
	}
	extra, err := decodeObject(data, target)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(extra) == 0 {
		extra = nil
	}
	return extra, nil
}

// encodeFile is the text of a file.
func encodeFile(name string, v any, extra map[string]json.RawMessage) ([]byte, error) {
	data, err := encodeObject("", v, extra)
	if len(data) > maxFile {
		err = fmt.Errorf("%s: %w", name, ErrTooLong)
	}
	return append(data, '\n'), err
}
