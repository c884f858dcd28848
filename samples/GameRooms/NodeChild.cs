using System.Diagnostics;
using System.Threading.Channels;

namespace Samples.GameRooms;

/// <summary>A node process, seen by the one that started it.</summary>
internal sealed class NodeChild : IDisposable
{
    private readonly Process _process;
    private readonly Channel<string> _lines = Channel.CreateUnbounded<string>();

    public NodeChild(params string[] arguments)
    {
        var start = new ProcessStartInfo(Environment.ProcessPath!)
        {
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            UseShellExecute = false,
        };
        start.ArgumentList.Add("node");
        Array.ForEach(arguments, start.ArgumentList.Add);
        _process = Process.Start(start)!;
        _process.OutputDataReceived += (_, data) =>
        {
            if (data.Data is not null)
            {
                _lines.Writer.TryWrite(data.Data);
            }
            else
            {
                _lines.Writer.TryComplete();
            }
        };
        _process.BeginOutputReadLine();
    }

    public int Id => _process.Id;

    public bool HasEnded => _process.HasExited;

    public void Tell(string line) => _process.StandardInput.WriteLine(line);

    /// <summary>What it says next that begins with this word, without it.</summary>
    /// <exception cref="IOException">It has ended.</exception>
    public async Task<string> ReadAsync(string word, CancellationToken cancellation)
    {
        try
        {
            while (true)
            {
                string line = await _lines.Reader.ReadAsync(cancellation).ConfigureAwait(false);
                if (line.StartsWith(word, StringComparison.Ordinal))
                {
                    return line[word.Length..].Trim();
                }
            }
        }
        catch (ChannelClosedException e)
        {
            throw new IOException("a node process has ended before its time", e);
        }
    }

    /// <summary>As a crash: it cannot say goodbye.</summary>
    public void Kill() => _process.Kill();

    public void Dispose()
    {
        if (!_process.HasExited)
        {
            _process.Kill();
        }

        _process.Dispose();
    }
}
