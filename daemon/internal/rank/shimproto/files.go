package shimproto

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"fulmen/native/atomicfile"
)

// Names of the two files in a rank's folder.
const (
	SpecFile = "spec.json"
	ExitFile = "exit.json"
)

// maxFile is the longest spec or exit record that is read.
const maxFile = 4 << 20

// WriteSpec writes spec.json into the folder, for its owner's eyes only. It is not
// synced: a power cut that loses it has ended whoever would read it.
func WriteSpec(folder string, s Spec) error {
	if err := s.Check(); err != nil {
		return err
	}
	data, err := encodeFile(SpecFile, s, s.Extra)
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(folder, SpecFile), data, 0o600)
}

// ForgetEnvironment takes the values of environment variables out of spec.json.
func ForgetEnvironment(folder string, s Spec) error {
	s.Env = nil
	return WriteSpec(folder, s)
}

// ReadSpec reads spec.json.
func ReadSpec(folder string) (s Spec, err error) {
	s.Extra, err = readFile(filepath.Join(folder, SpecFile), &s)
	if err == nil {
		err = s.Check()
	}
	return s, err
}

// WriteExit writes exit.json into the folder. It is on disk when WriteExit returns.
func WriteExit(folder string, r ExitRecord) error {
	if err := r.Check(); err != nil {
		return err
	}
	data, err := encodeFile(ExitFile, r, r.Extra)
	if err != nil {
		return err
	}
	if err := atomicfile.WriteSynced(filepath.Join(folder, ExitFile), data, 0o600); err != nil {
		return err
	}
	// The file is in place; a folder that cannot be synced (some file systems)
	// costs durability over a power cut only.
	if folder, err := os.Open(folder); err == nil {
		folder.Sync()
		folder.Close()
	}
	return nil
}

// ReadExit reads exit.json. fs.ErrNotExist means that the rank has not ended,
// or that its shim was killed: the supervisor knows which.
func ReadExit(folder string) (r ExitRecord, err error) {
	r.Extra, err = readFile(filepath.Join(folder, ExitFile), &r)
	if err == nil {
		err = r.Check()
	}
	return r, err
}

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
