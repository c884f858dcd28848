using BenchmarkDotNet.Attributes;
using Net.Zlink.Benchmarks.Micro;

namespace Net.Zlink.Benchmarks.Zmp;

/// <summary>A message of several parts put together and cleared. Per part.</summary>
[BenchmarkCategory("sockets", AllocationCheck.Category)]
public class MessageBuilderBenchmarks : IDisposable
{
    private const int Parts = 10;

    private readonly MessageBuilder _builder = new();
    private byte[] _part = [];

    [Params(16, 1024)]
    public int Size { get; set; }

    [GlobalSetup]
    public void Setup() => _part = new byte[Size];

    [GlobalCleanup]
    public void Dispose()
    {
        _builder.Dispose();
        GC.SuppressFinalize(this);
    }

    [Benchmark(OperationsPerInvoke = Parts)]
    public int AddClear()
    {
        for (int i = 0; i < Parts; i++)
        {
            _builder.Add(_part);
        }

        int count = _builder.Count;
        _builder.Clear();
        return count;
    }
}
