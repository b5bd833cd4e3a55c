package look

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// maxInput is how much of one input counts.
const maxInput = 1 << 30

// digest covers the command that prepares and the contents of its inputs. A
// folder counts with the names, sizes and times of what is in it.
func digest(r Request) string {
	hash := sha256.New()
	for _, word := range r.Prepare {
		fmt.Fprintf(hash, "%d:%s\x00", len(word), word)
	}
	for _, input := range r.PrepareInputs {
		fmt.Fprintf(hash, "%d:%s\x00", len(input), input)
		path := r.at(input)
		if isFolder(path) {
			_ = filepath.WalkDir(path, func(path string, entry fs.DirEntry, err error) error {
				if err == nil && entry.Type().IsRegular() {
					if info, err := entry.Info(); err == nil {
						fmt.Fprintf(hash, "%d:%s %d %d\x00", len(path), path, info.Size(), info.ModTime().UnixNano())
					}
				}
				return nil
			})
		} else if err := hashFile(hash, path); err != nil {
			fmt.Fprintf(hash, "unreadable %t\x00", errors.Is(err, fs.ErrNotExist))
		}
	}
	return hex.EncodeToString(hash.Sum(nil))
}

func hashFile(hash io.Writer, path string) error {
	if !isFile(path) {
		return fs.ErrNotExist // a pipe or device would never end
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	own := sha256.New()
	n, err := io.Copy(own, io.LimitReader(f, maxInput))
	if err != nil {
		return err
	}
	fmt.Fprintf(hash, "%d:%x\x00", n, own.Sum(nil))
	return nil
}
