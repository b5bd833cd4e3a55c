package darwin

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"syscall"

	"fulmen/native"
)

// sysctl reads the kernel's values by name. An error that matches errNoValue
// says that this machine has no such value.
type sysctl interface {
	// Text is a text, without its closing zero.
	Text(name string) (string, error)
	// Raw is the bytes as they are.
	Raw(name string) ([]byte, error)
}

// errNoValue is a name that the kernel does not know.
var errNoValue = errors.New("the kernel has no such value")

// kernelError marks the error of a name that this kernel does not know.
func kernelError(err error) error {
	if errors.Is(err, syscall.ENOENT) {
		return fmt.Errorf("%w: %w", errNoValue, err)
	}
	return err
}

// reason is why a value is absent, "" where it is not.
func reason(name string, err error) native.Reason {
	if err == nil {
		return ""
	}
	if errors.Is(err, errNoValue) {
		return native.ReasonNoOS.With("the kernel has no " + name)
	}
	return native.ReasonReadFailed.With(name + ": " + err.Error())
}

// number reads a whole number of 4 or 8 bytes, in this processor's order, which
// is little-endian on every Mac that MLX runs on.
func number(s sysctl, name string) (int64, error) {
	raw, err := s.Raw(name)
	if err != nil {
		return 0, err
	}
	switch len(raw) {
	case 4:
		return int64(int32(binary.LittleEndian.Uint32(raw))), nil
	case 8:
		return int64(binary.LittleEndian.Uint64(raw)), nil
	}
	return 0, errors.New("it is neither 4 nor 8 bytes long")
}

// text reads a text into field, or notes why it is absent.
func text(s sysctl, field *string, why *native.Reasons, key, name string) {
	value, err := s.Text(name)
	switch value = strings.TrimSpace(value); {
	case err != nil:
		why.Add(key, reason(name, err))
	case value == "":
		why.Add(key, native.ReasonSourceMalformed.With(name+" is empty"))
	default:
		*field = value
	}
}

// count reads a number above 0 into field, or notes why it is absent.
func count(s sysctl, field **int, why *native.Reasons, key, name string) {
	value, err := number(s, name)
	switch {
	case err != nil:
		why.Add(key, reason(name, err))
	case value <= 0:
		why.Add(key, native.ReasonSourceMalformed.With(name+" is not above 0"))
	default:
		n := int(value)
		*field = &n
	}
}
