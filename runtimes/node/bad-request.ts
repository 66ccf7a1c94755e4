/** The request does not follow the protocol. The class name is the error's type in the mesh. */
export class BadRequest extends Error {}
