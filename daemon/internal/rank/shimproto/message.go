package shimproto

import "encoding/json"

// MaxLine is the longest line, its end not counted, that either side accepts.
const MaxLine = 64 << 10

// Encode writes a message as one line, without its end. A message that its
// reader would refuse is an error here already.
func Encode(m interface {
	messageType() string
	check() error
}) ([]byte, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	line, err := encodeObject(m.messageType(), m, nil)
	if err != nil {
		return nil, err
	}
	if len(line) > MaxLine {
		return nil, ErrTooLong
	}
	return line, nil
}

// DecodeRequest reads what a daemon says. Errors are [FieldError],
// [UnknownTypeError] or [ErrTooLong].
func DecodeRequest(line []byte) (Request, error) {
	kind, err := messageKind(line)
	if err != nil {
		return nil, err
	}
	switch kind {
	case Hello{}.messageType():
		return decodeAs[Hello](line)
	case Renew{}.messageType():
		return decodeAs[Renew](line)
	case Stop{}.messageType():
		return decodeAs[Stop](line)
	case Resize{}.messageType():
		return decodeAs[Resize](line)
	case Query{}.messageType():
		return decodeAs[Query](line)
	}
	return nil, &UnknownTypeError{Type: kind}
}

// DecodeReply reads what a shim says. Errors are as of [DecodeRequest].
func DecodeReply(line []byte) (Reply, error) {
	kind, err := messageKind(line)
	if err != nil {
		return nil, err
	}
	switch kind {
	case Greeting{}.messageType():
		return decodeAs[Greeting](line)
	case Status{}.messageType():
		return decodeAs[Status](line)
	case Exit{}.messageType():
		return decodeAs[Exit](line)
	case InputTaken{}.messageType():
		return decodeAs[InputTaken](line)
	case Refusal{}.messageType():
		return decodeAs[Refusal](line)
	}
	return nil, &UnknownTypeError{Type: kind}
}

// messageKind reads the type of a line.
func messageKind(line []byte) (string, error) {
	if len(line) > MaxLine {
		return "", ErrTooLong
	}
	var typed struct {
		Type string `json:"t"`
	}
	_, err := decodeObject(line, &typed)
	return typed.Type, err
}

func decodeAs[M interface{ check() error }](line []byte) (m M, err error) {
	if _, err := decodeObject(line, &m); err != nil {
		return m, err
	}
	return m, m.check()
}

// RequestID returns the number of a request that does not read otherwise, so
// that it can be refused by name, or 0.
func RequestID(line []byte) uint64 {
	var numbered struct {
		ID uint64 `json:"id"`
	}
	if json.Unmarshal(line, &numbered) != nil {
		return 0
	}
	return numbered.ID
}
