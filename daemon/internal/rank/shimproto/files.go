package shimproto

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"fulmen/native/smallfile"
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
	// A new folder has none, and nobody reads one before this has returned.
	path := filepath.Join(folder, SpecFile)
	if err = smallfile.Create(path, data, 0o600); errors.Is(err, fs.ErrExist) {
		err = replaceFile(path, data, false)
	}
	return err
}

// ForgetEnvironment takes the values of environment variables out of spec.json. The
// file is written over in place, since its one reader has read it: a crash meanwhile
// leaves the old one, the new one or, of a long one, something that is no spec and no
// value beside it.
func ForgetEnvironment(folder string, s Spec) error {
	s.Env = nil
	if err := s.Check(); err != nil {
		return err
	}
	data, err := encodeFile(SpecFile, s, s.Extra)
	if err != nil {
		return err
	}
	// Of a file that is cut first, a file system may write what comes to the disk at
	// once, while the rank waits.
	path := filepath.Join(folder, SpecFile)
	if err := smallfile.Overwrite(path, data); !errors.Is(err, smallfile.ErrTooLong) {
		return err
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_TRUNC|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	return errors.Join(err, file.Close())
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
	return replaceFile(filepath.Join(folder, ExitFile), data, true)
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

// replaceFile replaces the file in one step, for its owner alone: a crash at any
// moment leaves the old one or the new one.
func replaceFile(path string, data []byte, sync bool) (err error) {
	temp, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(temp.Name()))
		}
	}()
	_, err = temp.Write(data) // CreateTemp has made it for its owner alone
	if sync {
		err = errors.Join(err, temp.Sync())
	}
	if err = errors.Join(err, temp.Close()); err != nil {
		return err
	}
	if err = os.Rename(temp.Name(), path); err != nil || !sync {
		return err
	}
	// The file is in place; a folder that cannot be synced (some file systems)
	// costs durability over a power cut only.
	if folder, openErr := os.Open(filepath.Dir(path)); openErr == nil {
		folder.Sync()
		folder.Close()
	}
	return nil
}
