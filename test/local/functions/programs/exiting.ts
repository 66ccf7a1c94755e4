console.error('no such luck');
process.exit(7);
