package endpoint

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"strconv"
	"time"
)

// request is a request of which the body was read.
type request struct {
	body  []byte
	model string
	// from and to are where in the body the model's name is.
	from, to int
}

// as is the body with another name of the model.
func (q *request) as(model string) []byte {
	if model == "" {
		return q.body
	}
	name, _ := json.Marshal(model) // a text
	return bytes.Join([][]byte{q.body[:q.from], name, q.body[q.to:]}, nil)
}

// read reads a request's body. Done gives its memory back.
func (e *Endpoint) read(w http.ResponseWriter, r *http.Request) (q *request, done func(), err error) {
	held := int64(0)
	done = func() { e.bodies.Add(-held) }
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return nil, done, newProblem(http.StatusUnsupportedMediaType, "unsupported_media_type", "The body must be JSON, with Content-Type: application/json.")
	}
	tooLarge := newProblem(http.StatusRequestEntityTooLarge, "request_too_large", "The body has more than the "+strconv.Itoa(maxBody>>20)+" MiB that a request may have.")
	if r.ContentLength > maxBody {
		return nil, done, tooLarge
	}
	control := http.NewResponseController(w)
	_ = control.SetReadDeadline(time.Now().Add(bodyWithin)) // a connection of net/http has one
	var body bytes.Buffer
	from := http.MaxBytesReader(w, r.Body, maxBody)
	for part := make([]byte, 32<<10); ; {
		n, err := from.Read(part)
		body.Write(part[:n])
		held += int64(n)
		full := e.bodies.Add(int64(n)) > maxBodies
		_, isTooLarge := errors.AsType[*http.MaxBytesError](err)
		switch {
		case isTooLarge:
			return nil, done, tooLarge
		case errors.Is(err, os.ErrDeadlineExceeded):
			return nil, done, newProblem(http.StatusRequestTimeout, "request_timeout", "The body did not come within "+bodyWithin.String()+".")
		case err != nil && err != io.EOF:
			return nil, done, newProblem(http.StatusBadRequest, "request_cut", "The body ended before it was whole.")
		case full:
			return nil, done, newProblem(http.StatusServiceUnavailable, "overloaded", "This Mac has too many large requests at once.")
		}
		if err == io.EOF {
			break
		}
	}
	_ = control.SetReadDeadline(time.Time{}) // what follows is that the client leaves
	q, err = parse(body.Bytes())
	return q, done, err
}

// parse finds the name of the model in a body, which stays as it is.
func parse(body []byte) (*request, error) {
	bad := func(message string) error {
		return &problem{status: http.StatusBadRequest, code: "invalid_body", message: message, param: "model"}
	}
	notJSON := bad("The body is not a JSON object with a field model.")
	q := &request{body: body, to: -1}
	d := json.NewDecoder(bytes.NewReader(body))
	if first, err := d.Token(); err != nil || first != json.Delim('{') {
		return nil, notJSON
	}
	for d.More() {
		key, err := d.Token()
		var value json.RawMessage
		if err != nil || d.Decode(&value) != nil {
			return nil, notJSON
		}
		if key != "model" {
			continue
		}
		if q.to >= 0 {
			return nil, bad("The body has the field model twice.")
		}
		q.to = int(d.InputOffset())
		q.from = q.to - len(value)
		if json.Unmarshal(value, &q.model) != nil || q.model == "" {
			return nil, bad("The field model must be the name of a model, as /v1/models lists them.")
		}
	}
	if _, err := d.Token(); err != nil {
		return nil, notJSON
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, notJSON
	}
	if q.to < 0 {
		return nil, bad("The field model is missing: it is the name of a model, as /v1/models lists them.")
	}
	return q, nil
}
