package smallfile

import (
	"errors"
	"os"
	"syscall"
)

// Create makes a file that is not there yet and writes it by one call. A file, or
// a link, of that name is [fs.ErrExist], and stays as it is. A text longer than
// [Most] is written too; of that a process which is killed may leave the beginning.
func Create(path string, text []byte, mode os.FileMode) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|syscall.O_NOFOLLOW, mode)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err = errors.Join(err, file.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}
