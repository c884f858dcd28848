using System.IO.Pipelines;

namespace Net.Zlink.Tests.Support;

/// <summary>Two pipes in memory: what one side writes the other side reads.</summary>
internal sealed class PipePair
{
    public PipePair(PipeOptions? options = null)
    {
        var there = new Pipe(options ?? PipeOptions.Default);
        var back = new Pipe(options ?? PipeOptions.Default);
        (One, Other) = (new Side(back.Reader, there.Writer), new Side(there.Reader, back.Writer));
    }

    /// <summary>For the socket.</summary>
    public IDuplexPipe One { get; }

    /// <summary>For the test, or for another socket.</summary>
    public IDuplexPipe Other { get; }

    /// <summary>A side as a web server has it: a reader and a writer over a stream.</summary>
    public static IDuplexPipe OverStream(IDuplexPipe side) =>
        new Side(PipeReader.Create(side.Input.AsStream()), PipeWriter.Create(side.Output.AsStream()));

    private sealed record Side(PipeReader Input, PipeWriter Output) : IDuplexPipe;
}
