package remote

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"fulmen/native/frame"
)

// protocol is the version of what is said here. Both sides are of one build; who
// is not, finds out at once.
const protocol = 1

// maxMessage is the longest message in bytes; the facts of a Mac with sixteen
// neighbours are some 40 kB.
const maxMessage = 1 << 20

// message is a request (it has a method), the answer to one (a result or an
// error), or news of what one began (an event).
type message struct {
	ID     uint64          `json:"id"`
	Method method          `json:"method,omitzero"`
	Params json.RawMessage `json:"params,omitzero"`
	Result json.RawMessage `json:"result,omitzero"`
	Event  json.RawMessage `json:"event,omitzero"`
	Error  *failure        `json:"error,omitzero"`
}

// isRequest tells requests from what answers them.
func (m message) isRequest() bool { return m.Method != "" }

// parse reads a message and refuses whatever is none.
func parse(data []byte) (message, error) {
	var m message
	if err := strictly(data, &m); err != nil {
		return message{}, err
	}
	kinds := 0
	for _, has := range []bool{m.isRequest(), m.Result != nil, m.Event != nil, m.Error != nil} {
		if has {
			kinds++
		}
	}
	if m.ID == 0 || kinds != 1 || m.Params != nil && !m.isRequest() {
		return message{}, errors.New("a message is a request, a result, an event or an error, with an id")
	}
	if m.Error != nil {
		return m, m.Error.check(maxCauses)
	}
	return m, nil
}

// strictly reads one value and refuses fields that are not known.
func strictly(data []byte, value any) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(value); err != nil {
		return err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return errors.New("more than one value")
	}
	return nil
}

// read reads the next message.
func read(r io.Reader) (message, error) {
	data, err := frame.Read(r, maxMessage)
	if err != nil {
		return message{}, err
	}
	return parse(data)
}

// encode makes the bytes of a message, its length before it.
func encode(m message) ([]byte, error) {
	data, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	if len(data) > maxMessage {
		return nil, fmt.Errorf("a message of %d bytes, more than %d", len(data), maxMessage)
	}
	return frame.Encode(data), nil
}
