// Package queue holds the rules of the line in which jobs wait for their places, pure and
// without a clock, and for every node alike: each home applies them to its own jobs by the
// documents of all.
//
// A job holds nothing while it waits. What it waits for stands in its document, and jobs
// behind it leave that alone; a job before it takes no notice. So of two jobs one always
// goes first, none waits for a part that another holds, and what is free and wanted by
// nobody before it anybody may take.
//
// The order is by priority and age: a point counts as much as waiting [api.PriorityAge]
// longer, so that a job waits for those alone that came before it, or so much later as
// their priority is higher. Among the jobs of one person priority counts as that person
// says; against those of others as far as the owners of the Macs say ([api.Sharing]): a
// person's jobs take the places in line that they have by that, in the person's own order.
package queue
