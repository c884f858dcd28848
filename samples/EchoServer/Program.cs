using EchoServer;
using EchoServer.Demo;
using Samples;

Options? options = new CommandLine().Read(args, out int exitCode);
if (options is null)
{
    return exitCode;
}

options.ApplyInlineCompletions();
if (options.UsesDevCertificate)
{
    try
    {
        DevCertificate certificate = DevCertificate.GetOrMake();
        Console.Error.WriteLine($"EchoServer: {certificate.Advice}");
        options = options with { CertificateFile = certificate.CertificateFile, KeyFile = certificate.KeyFile };
    }
    catch (Exception exception) when (exception is IOException or UnauthorizedAccessException)
    {
        return Sample.Report(Problem.Program, $"--dev-cert cannot write its files: {exception.Message}");
    }
}

try
{
    return options.Demo is TimeSpan perStep ? await DemoCommand.RunAsync(options, perStep) : await ServeCommand.RunAsync(options);
}
catch (CannotListenException problem)
{
    return Problem.CannotListen(problem);
}
