using Microsoft.Diagnostics.Tracing.Etlx;

namespace Net.Zlink.Benchmarks.Profile;

/// <summary>Turns a trace's call stacks into method names, innermost first.</summary>
internal sealed class StackNames
{
    private readonly Dictionary<CodeAddressIndex, string> _names = [];
    private readonly List<string> _stack = [];

    /// <summary>What native code that <paramref name="caller"/> runs is called.</summary>
    public static string Native(string caller)
    {
        int bracket = caller.IndexOf('(', StringComparison.Ordinal);
        return "[native] " + (bracket > 0 ? caller[..bracket] : caller);
    }

    /// <summary>The names; valid until the next call.</summary>
    public List<string> Of(TraceCallStack? stack)
    {
        _stack.Clear();
        for (TraceCallStack? frame = stack; frame is not null; frame = frame.Caller)
        {
            string name = NameOf(frame.CodeAddress);
            if (name.Length > 0)
            {
                _stack.Add(name);
            }
        }

        return _stack;
    }

    private string NameOf(TraceCodeAddress address)
    {
        if (_names.TryGetValue(address.CodeAddressIndex, out string? known))
        {
            return known;
        }

        string name = address.FullMethodName;
        if (name.Length == 0 && address.ModuleName.Length > 0)
        {
            name = address.ModuleName + "!?";
        }

        _names.Add(address.CodeAddressIndex, name);
        return name;
    }
}
