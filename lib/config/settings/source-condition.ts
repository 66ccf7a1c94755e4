/**
 * The condition under which the exports of this package point to its source. A checkout has no build, so whatever loads
 * handlers from a mesh that depends on a checkout sets it.
 */
export const SOURCE_CONDITION = 'asya-source';
