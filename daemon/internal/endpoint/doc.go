// Package endpoint answers on one port of this Mac for all services of the cluster, with
// the paths of OpenAI's API. A request goes by the model that it names to an instance of
// it, wherever that runs, as it is, and its answer comes back as it is.
//
// Who asks is an account of this Mac: by a key, or on the loopback by the kernel's word.
// They reach what the map of this Mac, and that of rank 0's, gives to that account.
//
// It owns no documents, and keeps no byte of a request longer than the request.
package endpoint
