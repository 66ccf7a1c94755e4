/** What somebody asked to simulate is not possible: the message says why. The command line reports it as a usage error. */
export class ScenarioMistake extends Error {}
