// Bindings: namespaces of host functions, calls and their answers, error classes (RUN-18..29).

// pending holds the calls that the host has not answered, by number.
const pending = table();
let lastCall = 0;

// A promise's two functions, taken out without a closure for each.
let grabbedResolve, grabbedReject;
const grab = (resolve, reject) => {
  grabbedResolve = resolve;
  grabbedReject = reject;
};

// call starts one call of a member and returns its promise. site is an error that was made for the case of a failure,
// because its stack is the calling site's: that is the line which the model needs to see (RUN-25).
const call = (space, member, argument, site) => {
  const promise = new Promise_(grab), resolve = grabbedResolve, reject = grabbedReject;
  // An engine that can read a small plain argument by itself takes the call as it is, and says so by a reply.
  let id = lastCall + 1;
  if (typeof argument !== 'object' || host(OP_CALL, id, space.index, member, argument) === undefined) {
    const text = serialise(argument, Infinity);
    if (text === undefined) {
      reject(rejection(space, member, site, lossless('arguments are not lossless JSON') +
        (argument === undefined ? '; pass an object such as {}' : '')));
      return promise;
    }
    id = lastCall + 1; // a getter of the argument may have made calls of its own
    host(OP_CALL, id, space.index, member, text);
  }
  lastCall = id;
  pending.set(id, { space, member, site, resolve, reject });
  return promise;
};

// settle answers a call: with a JSON text, or with the message of a failure. deep says that the text nests deeply.
const settle = (id, ok, payload, deep) => {
  const entry = pending.get(id);
  if (entry === undefined) return;
  pending.delete(id);
  if (ok) entry.resolve(parse(payload, deep === true));
  else entry.reject(rejection(entry.space, entry.member, entry.site, payload));
};

// rejection makes the error of a failed call out of the one that was made at the calling site.
const rejection = (space, member, error, message) => {
  define(error, 'message', { __proto__: null, value: message, writable: true, enumerable: false, configurable: true });
  if (space.errors !== undefined) {
    setProto(error, space.errors.proto);
    label(error, space.errors, member);
  }
  return error;
};

const label = (error, errors, member) => {
  define(error, 'name', { __proto__: null, value: errors.name, writable: false, enumerable: true, configurable: false });
  define(error, errors.property, { __proto__: null, value: member, writable: false, enumerable: true, configurable: false });
};

// bind puts one namespace into the program's world: {global, members, errors?: [name, property]}.
const bind = (description, index) => {
  const space = { index, errors: undefined };
  if (description.errors !== undefined) {
    const name = description.errors[0], errors = { name, property: description.errors[1], proto: undefined };
    const made = {
      [name]: class extends Error_ {
        constructor(member, message) {
          super(message);
          label(this, errors, member);
        }
      },
    }[name];
    errors.proto = made.prototype;
    space.errors = errors;
    expose(name, made);
  }
  const object = create(null), members = description.members;
  const slot = { __proto__: null, value: undefined, writable: false, enumerable: true, configurable: false };
  for (let i = 0; i < members.length; i++) {
    const member = members[i];
    slot.value = { [member](argument) { return call(space, member, argument, new Error_()); } }[member];
    define(object, member, slot);
  }
  expose(description.global, object);
};
