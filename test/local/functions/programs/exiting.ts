console.error('exiting while loading');
process.exit(7);
