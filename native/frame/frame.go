// Package frame puts messages on a stream: each is a length of four bytes,
// big-endian, and that many bytes.
package frame

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
)

// HeadBytes is how long the length is.
const HeadBytes = 4

// TooLongError is a frame that claims more bytes than are allowed. Nothing of it
// was read but its length.
type TooLongError struct{ Bytes, Limit int64 }

// Error names both numbers.
func (e *TooLongError) Error() string {
	return fmt.Sprintf("a message of %d bytes is too long: at most %d are allowed", e.Bytes, e.Limit)
}

// Encode is the frame of some bytes, to be written at once.
func Encode(data []byte) []byte {
	return append(binary.BigEndian.AppendUint32(make([]byte, 0, HeadBytes+len(data)), uint32(len(data))), data...)
}

// Read reads a frame of at most limit bytes. The memory is taken as the bytes
// come, not as the length claims. The error of a stream that ends in a frame is
// io.ErrUnexpectedEOF, before one io.EOF, and of a length above the limit a
// *TooLongError.
func Read(r io.Reader, limit int) ([]byte, error) {
	var head [HeadBytes]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	length := int64(binary.BigEndian.Uint32(head[:]))
	if length > int64(limit) {
		return nil, &TooLongError{Bytes: length, Limit: int64(limit)}
	}
	var data bytes.Buffer
	data.Grow(int(min(length, atOnce)) + bytes.MinRead) // so much it wants to see the end
	_, err := io.CopyN(&data, r, length)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return data.Bytes(), err
}

// atOnce is for how many bytes there is memory at first; when they have come, for
// about as many again.
const atOnce = 16 << 10
