namespace Net.Zlink.Tests.Child;

/// <summary>A program whose sockets another one watches: says READY and its endpoint, and ends when its input does.</summary>
internal static class DiagnosticsProcess
{
    public static async Task<int> RunAsync()
    {
        await using var context = new ZlinkContext(new ZlinkContextOptions { Name = "watched" });
        using DiagnosticsEndpoint diagnostics = context.OpenDiagnostics();
        context.CreateRouter().Bind("tcp://127.0.0.1:*");
        Console.WriteLine($"READY {diagnostics.Endpoint}");
        await Console.In.ReadToEndAsync();
        return 0;
    }
}
