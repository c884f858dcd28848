using Net.Zlink;
using ProxySample;

Options? options = new CommandLine().Read(args, out int exitCode);
if (options is null)
{
    return exitCode;
}

try
{
    return await Demo.RunAsync(options);
}
catch (ZlinkException problem) when (problem.Error is not ZlinkError.ContextTerminated)
{
    return Problem.Report(problem.Message);
}
