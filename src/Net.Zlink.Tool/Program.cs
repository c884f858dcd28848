using Net.Zlink.Tool;

return await ZlinkTool.RunAsync(args, Console.In, Console.Out, Console.Error).ConfigureAwait(false);
