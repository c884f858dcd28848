using System.Runtime.InteropServices;
using System.Security.Cryptography.X509Certificates;
using System.Text;
using Net.Zlink.Benchmarks.Common;
using Net.Zlink.Interop.Tests.Native;
using Net.Zlink.Scenarios.Wire;
using Samples;

namespace Net.Zlink.Scenarios.Servers;

/// <summary>The native core's STREAM socket through its C API: one thread receives and answers, as its API wants it; its I/O threads are
/// the shards.</summary>
internal sealed unsafe class NativeServer : IEchoServer
{
    // Connect and disconnect come as a payload of one byte, 1 or 0.
    private const int NoticeLength = 1;

    // The context's default, 1,023, counts connections of a STREAM as sockets.
    private const int MaxSockets = 65_535;

    // How long a receive waits before it looks whether the server ends.
    private const int LookMilliseconds = 100;

    private readonly nint _context;
    private readonly nint _socket;
    private readonly Thread _thread;
    private readonly DirectoryInfo? _pem;
    private long _connections;
    private long _dropped;
    private bool _isEnding;

    public NativeServer(Address address, ServerSettings settings)
    {
        _context = NativeFunctions.zlink_ctx_new();
        Check(NativeFunctions.zlink_ctx_set(_context, NativeContextOption.IoThreads, settings.Shards), "set the number of I/O threads");
        Check(NativeFunctions.zlink_ctx_set(_context, NativeContextOption.MaxSockets, MaxSockets), "set the number of sockets");
        _socket = NativeFunctions.zlink_socket(_context, NativeSocketType.Stream);
        Check(_socket == 0 ? -1 : 0, "make a socket");
        Set(NativeOption.SendHighWaterMark, settings.HighWaterMark);
        Set(NativeOption.ReceiveHighWaterMark, settings.HighWaterMark);
        Set(NativeOption.Backlog, settings.Backlog);
        Set(NativeOption.Linger, 0);
        Set(NativeOption.ReceiveTimeout, LookMilliseconds);
        if (address.IsTls)
        {
            // It reads PEM files, and only when it listens.
            using X509Certificate2 certificate = CertificateMaker.Make($"CN={address.Host}", [address.Host]);
            _pem = Directory.CreateTempSubdirectory("scenarios-");
            Set(NativeOption.TlsCert, Write("certificate.pem", certificate.ExportCertificatePem()));
            Set(NativeOption.TlsKey, Write("key.pem", certificate.ExportKeyPem()));
        }

        Check(NativeFunctions.zlink_bind(_socket, settings.Endpoint), $"listen on {settings.Endpoint}");
        Endpoint = LastEndpoint();
        _thread = new Thread(Serve) { IsBackground = true, Name = "native echo" };
        _thread.Start();
    }

    public string Endpoint { get; }

    public ServerCounts GetCounts() => new(Volatile.Read(ref _connections), Volatile.Read(ref _dropped));

    public ValueTask DisposeAsync()
    {
        Volatile.Write(ref _isEnding, true);
        _thread.Join();
        Check(NativeFunctions.zlink_close(_socket), "close");
        Check(NativeFunctions.zlink_ctx_term(_context), "end the context");
        _pem?.Delete(recursive: true);
        return ValueTask.CompletedTask;
    }

    private static void Check(int result, string what)
    {
        if (result < 0)
        {
            int error = NativeFunctions.LastError;
            throw new RequestException(
                $"The native library cannot {what}: {Marshal.PtrToStringUTF8((nint)NativeFunctions.zlink_strerror(error))} ({error}).");
        }
    }

    private void Set(int option, int value) =>
        Check(NativeFunctions.zlink_setsockopt(_socket, option, (byte*)&value, sizeof(int)), $"set option {option}");

    private void Set(int option, string value)
    {
        byte[] text = Encoding.UTF8.GetBytes(value);
        fixed (byte* pointer = text)
        {
            Check(NativeFunctions.zlink_setsockopt(_socket, option, pointer, (nuint)text.Length), $"set option {option}");
        }
    }

    private string Write(string name, string text)
    {
        string path = Path.Combine(_pem!.FullName, name);
        File.WriteAllText(path, text);
        return path;
    }

    private string LastEndpoint()
    {
        // The longest is a text of 256 bytes.
        byte* text = stackalloc byte[512];
        nuint length = 512;
        Check(NativeFunctions.zlink_getsockopt(_socket, NativeOption.LastEndpoint, text, ref length), "name its endpoint");
        return Encoding.UTF8.GetString(text, (int)length).TrimEnd('\0');
    }

    private void Serve()
    {
        while (!Volatile.Read(ref _isEnding))
        {
            var id = default(NativeMessageStruct);
            var payload = default(NativeMessageStruct);
            _ = NativeFunctions.zlink_msg_init(ref id);
            _ = NativeFunctions.zlink_msg_init(ref payload);
            if (NativeFunctions.zlink_msg_recv(ref id, _socket, NativeFlags.None) < 0)
            {
                // Again or Interrupted: look whether to end.
                continue;
            }

            _ = NativeFunctions.zlink_msg_recv(ref payload, _socket, NativeFlags.None);
            if (NativeFunctions.zlink_msg_size(ref payload) == NoticeLength && *NativeFunctions.zlink_msg_data(ref payload) <= 1)
            {
                Volatile.Write(ref _connections, _connections + (*NativeFunctions.zlink_msg_data(ref payload) == 1 ? 1 : -1));
                _ = NativeFunctions.zlink_msg_close(ref id);
                _ = NativeFunctions.zlink_msg_close(ref payload);
                continue;
            }

            // A sent message is the library's; one that it refuses stays ours.
            if (NativeFunctions.zlink_msg_send(ref id, _socket, NativeFlags.SendMore) < 0)
            {
                Drop(ref id, ref payload);
            }
            else if (NativeFunctions.zlink_msg_send(ref payload, _socket, NativeFlags.None) < 0)
            {
                Drop(ref id, ref payload);
            }
        }
    }

    private void Drop(ref NativeMessageStruct id, ref NativeMessageStruct payload)
    {
        Volatile.Write(ref _dropped, _dropped + 1);
        _ = NativeFunctions.zlink_msg_close(ref id);
        _ = NativeFunctions.zlink_msg_close(ref payload);
    }
}
