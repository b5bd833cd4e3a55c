package smallfile

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"syscall"
)

// Most is the longest text, in bytes, that is written in one step: the smallest
// page of any machine that this runs on.
const Most = 4096

// ErrTooLong is a text, or a file, that is longer than [Most].
var ErrTooLong = errors.New("longer than what is written in one step")

// Overwrite replaces the text of a file that is there in one step. Where the new
// text is shorter than the old one, spaces follow it: the file grows and never
// shrinks, since that would be a step of its own. Its mode stays. Nothing is
// changed where the error is [ErrTooLong] or [fs.ErrNotExist].
//
// No other process may read the file meanwhile, and none may write it.
func Overwrite(path string, text []byte) error {
	if len(text) > Most {
		return fmt.Errorf("%s: %w", path, ErrTooLong)
	}
	file, err := os.OpenFile(path, os.O_WRONLY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if info.Size() > Most {
		return fmt.Errorf("%s: %w", path, ErrTooLong)
	}
	if more := int(info.Size()) - len(text); more > 0 {
		text = append(text[:len(text):len(text)], bytes.Repeat([]byte{' '}, more)...)
	}
	_, err = file.WriteAt(text, 0)
	return err
}
