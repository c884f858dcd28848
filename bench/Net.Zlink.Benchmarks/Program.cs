using Net.Zlink.Benchmarks.Common;

return await Commands.RunAsync(args);
