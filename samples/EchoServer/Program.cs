using EchoServer;
using EchoServer.Demo;

Options? options = new CommandLine().Read(args, out int exitCode);
if (options is null)
{
    return exitCode;
}

options.ApplyInlineCompletions();
try
{
    return options.Demo is TimeSpan perStep ? await DemoCommand.RunAsync(options, perStep) : await ServeCommand.RunAsync(options);
}
catch (CannotListenException problem)
{
    return Problem.CannotListen(problem);
}
