package server

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	"fulmen/daemon/api"
)

// Handlers are methods by name.
type Handlers map[string]Handler

// Handler does one method. It is made by Handle.
type Handler struct {
	params, result reflect.Type
	call           func(ctx context.Context, c *Caller, params json.RawMessage) (any, error)
}

// Handle makes a handler from a function. Its types must be those of the table
// of methods. Params have been checked for unknown fields and wrong types;
// ranges are the function's to check. An *api.Error goes to the client as it
// is; of any other error the client learns only that there was one.
//
// The context ends with the connection and at Limits.CallDeadline, whichever
// is first.
func Handle[P, R any](f func(ctx context.Context, c *Caller, params P) (R, error)) Handler {
	return Handler{
		params: reflect.TypeFor[P](), result: reflect.TypeFor[R](),
		call: func(ctx context.Context, c *Caller, raw json.RawMessage) (any, error) {
			var params P
			if err := decodeParams(raw, &params); err != nil {
				return nil, err
			}
			return f(ctx, c, params)
		},
	}
}

// method is a row of the table with its handler, if it is built.
type method struct {
	info    api.MethodInfo
	handler Handler
}

// methodTable joins the table of methods with the handlers. It panics where
// they do not fit, which is a mistake in the program.
func methodTable(table []api.MethodInfo, handlers ...Handlers) map[string]method {
	out := make(map[string]method, len(table))
	for _, info := range table {
		if !classCovers(api.ClassAdmin, info.Class) {
			panic(fmt.Sprintf("server: %s is of class %q, which no local caller has", info.Name, info.Class))
		}
		out[info.Name] = method{info: info}
	}
	for _, set := range handlers {
		for name, h := range set {
			m, ok := out[name]
			switch {
			case !ok:
				panic("server: a handler for " + name + ", which is not in the table of methods")
			case m.handler.call != nil:
				panic("server: two handlers for " + name)
			case h.params != m.info.Params || h.result != m.info.Result:
				panic(fmt.Sprintf("server: the handler of %s has types (%v, %v), the table (%v, %v)",
					name, h.params, h.result, m.info.Params, m.info.Result))
			}
			m.handler = h
			out[name] = m
		}
	}
	return out
}

func notBuilt(name string) error {
	return &api.Error{Code: api.CodeUnsupported, Message: name + ": this version of Fulmen does not have it yet.",
		Data: api.ErrorData{Reason: api.ReasonNotBuiltYet, Subject: name}}
}
