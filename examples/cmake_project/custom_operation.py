# custom_operation.py: the PyTorch twin of custom_operation.cpp.
import torch


class Swish(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, b):
        s = torch.sigmoid(b * x)
        y = x * s
        ctx.save_for_backward(s, y)
        ctx.b = b
        return y

    @staticmethod
    def backward(ctx, dy):
        s, y = ctx.saved_tensors
        return dy * (s + ctx.b * y * (1 - s)), None


def swish(x, b=1.0):
    return Swish.apply(x, b)


torch.manual_seed(0)
x = torch.randn(3, 5, dtype=torch.double, requires_grad=True)
right = torch.autograd.gradcheck(lambda x: swish(x, 1.5), [x])
print("the gradient is right" if right else "the gradient is wrong")
x = torch.tensor([[-2.0, 0, 2]], requires_grad=True)
y = swish(x)
y.sum().backward()
print(y)
print(x.grad)
