package frame_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/matryer/is"

	"fulmen/native/frame"
)

func TestFrames(t *testing.T) {
	is := is.New(t)
	stream := bytes.NewReader(append(frame.Encode([]byte("one")), frame.Encode(nil)...))
	for _, want := range []string{"one", ""} {
		got, err := frame.Read(stream, 3)
		is.NoErr(err)
		is.Equal(string(got), want)
	}
	_, err := frame.Read(stream, 3)
	is.Equal(err, io.EOF)
	for _, cut := range []int{1, frame.HeadBytes, frame.HeadBytes + 2} {
		_, err := frame.Read(bytes.NewReader(frame.Encode([]byte("one"))[:cut]), 3)
		is.True(errors.Is(err, io.ErrUnexpectedEOF))
	}
	_, err = frame.Read(bytes.NewReader(frame.Encode([]byte("four"))), 3)
	var long *frame.TooLongError
	is.True(errors.As(err, &long))
	is.Equal(*long, frame.TooLongError{Bytes: 4, Limit: 3})
}
