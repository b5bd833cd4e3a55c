package endpoint

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"mime/multipart"
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
	isForm   bool
}

// as is the body with another name of the model.
func (q *request) as(model string) []byte {
	if model == "" {
		return q.body
	}
	name := []byte(model)
	if !q.isForm {
		name, _ = json.Marshal(model) // a text
	}
	return bytes.Join([][]byte{q.body[:q.from], name, q.body[q.to:]}, nil)
}

// read reads a request's body. Done gives its memory back.
func (e *Endpoint) read(w http.ResponseWriter, r *http.Request) (q *request, done func(), err error) {
	held := int64(0)
	done = func() { e.bodies.Add(-held) }
	kind, params, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	isForm := kind == "multipart/form-data" && params["boundary"] != ""
	if err != nil || kind != "application/json" && !isForm {
		return nil, done, newProblem(http.StatusUnsupportedMediaType, "unsupported_media_type", "The body must be JSON, with Content-Type: application/json, or a form, with multipart/form-data.")
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
	if isForm {
		q, err = parseForm(body.Bytes(), params["boundary"])
	} else {
		q, err = parse(body.Bytes())
	}
	return q, done, err
}

// badModel is what a body is answered that names no model.
func badModel(message string) error {
	return &problem{status: http.StatusBadRequest, code: "invalid_body", message: message, param: "model"}
}

var (
	errTwice   = badModel("The body has the field model twice.")
	errNoName  = badModel("The field model must be the name of a model, as /v1/models lists them.")
	errMissing = badModel("The field model is missing: it is the name of a model, as /v1/models lists them.")
)

// parse finds the name of the model in a body, which stays as it is.
func parse(body []byte) (*request, error) {
	notJSON := badModel("The body is not a JSON object with a field model.")
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
			return nil, errTwice
		}
		q.to = int(d.InputOffset())
		q.from = q.to - len(value)
		if json.Unmarshal(value, &q.model) != nil || q.model == "" {
			return nil, errNoName
		}
	}
	if _, err := d.Token(); err != nil {
		return nil, notJSON
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, notJSON
	}
	if q.to < 0 {
		return nil, errMissing
	}
	return q, nil
}

// parseForm finds the name of the model in a form, which stays as it is: recordings and
// pictures are sent in forms.
func parseForm(body []byte, boundary string) (*request, error) {
	q := &request{body: body, to: -1}
	delimiter, headEnd := []byte("\r\n--"+boundary), []byte("\r\n\r\n")
	at := bytes.Index(body, delimiter[2:]) // of the part, in the body
	for form := multipart.NewReader(bytes.NewReader(body), boundary); ; {
		part, err := form.NextRawPart()
		if err == io.EOF {
			break
		}
		var value []byte
		if err == nil {
			value, err = io.ReadAll(part)
		}
		// Its reader does not give where a part's value begins: after its head.
		from := at + bytes.Index(body[max(at, 0):], headEnd) + len(headEnd)
		to := from + len(value)
		if err != nil || at < 0 || to > len(body) || !bytes.Equal(body[from:to], value) || !bytes.HasPrefix(body[to:], delimiter) {
			return nil, badModel("The body is not a form with the boundary that its Content-Type names.")
		}
		at = to + len(delimiter)
		if part.FormName() != "model" {
			continue
		}
		if q.to >= 0 {
			return nil, errTwice
		}
		q.from, q.to, q.model, q.isForm = from, to, string(value), true
	}
	switch {
	case q.to < 0:
		return nil, errMissing
	case q.model == "":
		return nil, errNoName
	}
	return q, nil
}
